// An SMSC for tests, over the npm package `smpp`: an implementation of the protocol that nobody of ours wrote.
//
// It speaks JSON, one object a line. On stdout: {"port": …} first, then one answer to each command. On stdin:
//   {"do": "report"}                   all submit_sm so far: id, text, destination, and the outcome of every deliver_sm
//   {"do": "receipts"}                 a receipt for every message that wants one and has none, in random order
//   {"do": "write", "from", "to", "text", "parts"}   what a person writes, in so many parts
//   {"do": "cut_every", "count"}       from now on the connection is destroyed at every so many submit_sm, ten times
'use strict';
const readline = require('readline');
const smpp = require('smpp');

const taken = [];          // {id, text, to, receipt, told}
const sessions = new Set();
const delivered = [];      // command_status of the answers to our deliver_sm
let cutEvery = 0;
let cuts = 0;
let connections = 0;
let seed = 7;

function random() {
  // Park and Miller: the same order in every run.
  seed = (seed * 16807) % 2147483647;
  return seed / 2147483647;
}

function shuffled(list) {
  const found = list.slice();
  for (let i = found.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [found[i], found[j]] = [found[j], found[i]];
  }
  return found;
}

function pick() {
  const open = Array.from(sessions);
  return open[Math.floor(random() * open.length)];
}

function deliver(pdu) {
  return new Promise((resolve) => {
    const session = pick();
    if (!session) { resolve(); return; }
    session.deliver_sm(pdu, (answer) => { delivered.push(answer.command_status); resolve(); });
  });
}

function receipt(message) {
  message.told = true;
  return deliver({
    esm_class: smpp.ESM_CLASS.MC_DELIVERY_RECEIPT,
    source_addr: message.to,
    destination_addr: '12345',
    short_message: 'id:' + message.id + ' sub:001 dlvrd:001 submit date:2611151200 done date:2611151201'
      + ' stat:' + (message.number % 10 === 3 ? 'UNDELIV err:027' : 'DELIVRD err:000') + ' text:hello',
  });
}

function take(session, pdu) {
  const number = taken.length + 1;
  const message = {
    number, id: number.toString(16), to: pdu.destination_addr, told: false,
    text: pdu.short_message.message || (pdu.message_payload && pdu.message_payload.message) || '',
    udh: pdu.short_message.udh ? Array.from(pdu.short_message.udh[0]) : null,
    receipt: pdu.registered_delivery === 1,
  };
  taken.push(message);
  if (cutEvery && cuts < 10 && number % cutEvery === 0) {
    // It has the message, and its answer is lost with the connection.
    cuts += 1;
    session.socket.destroy();
    return;
  }
  if (message.receipt && number % 10 === 7) {
    // Some SMSCs are so quick that the receipt overtakes the answer.
    receipt(message);
  }
  session.send(pdu.response({ message_id: message.id }));
}

const server = smpp.createServer((session) => {
  connections += 1;
  session.on('error', () => {});
  session.on('close', () => sessions.delete(session));
  for (const bind of ['bind_transceiver', 'bind_receiver', 'bind_transmitter']) {
    session.on(bind, (pdu) => {
      if (pdu.password !== 'hunter2') {
        session.send(pdu.response({ command_status: smpp.ESME_RINVPASWD }));
        return;
      }
      session.send(pdu.response({ system_id: 'npm' }));
      if (bind !== 'bind_transmitter') { sessions.add(session); }
    });
  }
  session.on('submit_sm', (pdu) => take(session, pdu));
  session.on('enquire_link', (pdu) => session.send(pdu.response()));
  session.on('unbind', (pdu) => { session.send(pdu.response()); session.close(); });
});

const commands = {
  report: () => ({ taken, delivered, connections, cuts }),
  receipts: async () => {
    const due = shuffled(taken.filter((message) => message.receipt && !message.told));
    await Promise.all(due.map(receipt));
    return { told: due.length };
  },
  write: async (wish) => {
    const parts = wish.parts || 1;
    const size = Math.ceil(wish.text.length / parts);
    const order = shuffled(Array.from({ length: parts }, (_, i) => i));
    await Promise.all(order.map((i) => deliver({
      source_addr_ton: 1, source_addr: wish.from, dest_addr_ton: 1, destination_addr: wish.to,
      esm_class: parts > 1 ? smpp.ESM_CLASS.UDH_INDICATOR : 0,
      short_message: parts > 1
        ? { udh: Buffer.from([5, 0, 3, 42, parts, i + 1]), message: wish.text.slice(i * size, (i + 1) * size) }
        : wish.text,
    })));
    return { written: parts };
  },
  cut_every: (wish) => { cutEvery = wish.count; return {}; },
};

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(JSON.stringify({ port: server.address().port }) + '\n');
});
const lines = readline.createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const wish = JSON.parse(line);
  process.stdout.write(JSON.stringify(await commands[wish.do](wish)) + '\n');
});
// Whoever started it is gone.
lines.on('close', () => process.exit(0));
