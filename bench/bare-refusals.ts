/** What any server has to do for a call that it refuses: `node bare-refusals.ts <port>` answers each with the same 503. */
import { createServer } from 'node:http';

const [port] = process.argv.slice(2).map(Number);
if (!port) throw new Error('Usage: node bare-refusals.ts <port>');

const body = JSON.stringify({
  error: 'More searches arrive than can be answered; try again shortly.',
  code: 'SERVICE_UNAVAILABLE',
  request_id: 'req_0VBT2kfb000000000000',
});
createServer(({ url }, response) => {
  if (url === '/readyz') response.end();
  else response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' }).end(body);
}).listen(port, '127.0.0.1');
