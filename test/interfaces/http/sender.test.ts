import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { all, compile } from '@fastify/proxy-addr';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSenders } from '../../../src/interfaces/http/sender.ts';

describe('the sender of a request', () => {
  it('is the one that Fastify finds, whatever X-Forwarded-For says', () => {
    const trusted = ['10.0.0.0/8', '127.0.0.1'];
    const isProxy = compile(trusted);
    const senderOf = openSenders(trusted);
    const hop = fc.oneof(fc.constantFrom('10.0.0.1', '10.2.3.4', '127.0.0.1', '203.0.113.9', '', ' ', 'x'), fc.ipV6());
    const claim = fc.tuple(fc.constantFrom('', ' ', '\t'), hop).map((parts) => parts.join(''));
    const remote = fc.constantFrom('127.0.0.1', '10.1.1.1', '198.51.100.7');
    fc.assert(
      fc.property(fc.option(fc.array(claim, { maxLength: 5 })), remote, (claims, remoteAddress) => {
        const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
        const request = new IncomingMessage(socket);
        if (claims) request.headers['x-forwarded-for'] = claims.join(',');
        expect(senderOf(request)).toEqual({
          address: all(request, isProxy).at(-1),
          isTrusted: isProxy(remoteAddress, 0),
        });
      }),
    );
  });
});
