// Verifies calls with the libraries of others: standard input has [{library, secret, headers, body}], the answer says of each
// whether it was verified.
"use strict";

async function main() {
  const libraries = {
    standardwebhooks: require("standardwebhooks").Webhook,
    svix: (await import("svix")).Webhook,
  };
  const given = [];
  for await (const piece of process.stdin) given.push(piece);
  const calls = JSON.parse(Buffer.concat(given).toString("utf8"));
  const answers = calls.map(({ library, secret, headers, body }) => {
    try {
      new libraries[library](secret).verify(body, headers);
      return true;
    } catch (error) {
      return String(error.message);
    }
  });
  process.stdout.write(JSON.stringify(answers));
}

main();
