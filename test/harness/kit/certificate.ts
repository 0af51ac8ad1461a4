import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface Certificate {
  key: string;
  cert: string;
}

const DAY_MS = 86_400_000;

/** An ASN.1 value in DER. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const size =
    body.length < 128 ? Buffer.from([body.length]) : Buffer.from([0x82, body.length >> 8, body.length & 255]);
  return Buffer.concat([Buffer.from([tag]), size, body]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const COMMON_NAME = objectId('550403');
const ALTERNATIVE_NAMES = objectId('551d11');
const BASIC_CONSTRAINTS = objectId('551d13');
const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));

const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]|\.\d+/g, '')}`));

/** A host as a subject's other name: `IPAddress` or `dNSName`. */
function hostName(host: string): Buffer {
  return isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

/** A certificate for hosts, that is its own authority: whoever trusts it trusts only its bearer. */
export function makeCertificate(hosts: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // Of several trusted issuers of one name OpenSSL tries the first alone.
  const issuer = `rollcall test ${randomBytes(6).toString('hex')}`;
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(issuer)))));
  const extensions = sequence(
    sequence(BASIC_CONSTRAINTS, der(0x01, Buffer.from([0xff])), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
    sequence(ALTERNATIVE_NAMES, der(0x04, sequence(...hosts.map(hostName)))),
  );
  const now = Date.now();
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(new Date(now - DAY_MS)), time(new Date(now + 30 * DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey));
  const whole = sequence(signed, ECDSA_WITH_SHA256, signature).toString('base64');
  const lines = whole.match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}
