// The frame of a mail's preview: shows what its page hands it. The page's policy lets nothing in it run or be fetched but pictures.
"use strict";
addEventListener("message", (event) => {
  if (event.source !== parent || typeof event.data?.html !== "string") return;
  const mail = new DOMParser().parseFromString(event.data.html, "text/html");
  const place = scrollY;
  document.documentElement.replaceWith(document.adoptNode(mail.documentElement));
  scrollTo(0, place);
  parent.postMessage({ height: document.documentElement.scrollHeight }, "*");
});
parent.postMessage({ ready: true }, "*");
