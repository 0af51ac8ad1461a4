import { timingSafeEqual } from 'node:crypto';
import type { Context } from '../../kit/operation/context.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { keyedHash } from '../../kit/values/secrets.ts';

/** The files of a job can be downloaded for this long. */
export const FILES_KEPT_MS = 7 * DAY_MS;

const RETRY_DELAYS_MS = [10_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS] as const;

/** The delay after `failures` failures in a row; undefined if the job has failed. */
export const getRetryDelayMs = (failures: number): number | undefined => RETRY_DELAYS_MS[failures - 1];

/** The storage key of a file. Each turn has its own, so that a lost turn cannot write into the file of another. */
export const toStorageKey = (jobId: string, number: number, claim: string): string =>
  `jobs/${jobId.slice(-2)}/${jobId}/${number}-${claim}`;

interface FileToken {
  jobId: string;
  number: number;
}

const MAC_BYTES = 16;
const TOKEN = /^(job_\w{1,60})\.(\d{1,6})\.([0-9a-z]{1,10})\.([\w-]{22})$/;

const computeMac = (secrets: Context['secrets'], signed: string): Buffer =>
  keyedHash(secrets.key('job file'), signed).subarray(0, MAC_BYTES);

/** The signed URL of a job's file. It works until the hour in which the file ends. */
export function signFileUrl(
  { config, secrets }: Pick<Context, 'config' | 'secrets'>,
  { jobId, number }: FileToken,
  endsAt: Date,
): string {
  const signedText = `${jobId}.${number}.${Math.ceil(endsAt.getTime() / HOUR_MS).toString(36)}`;
  return `${config.linksUrl}/files/${signedText}.${computeMac(secrets, signedText).toString('base64url')}`;
}

/** Verifies a token; undefined if the signature is wrong or the URL has expired. */
export function readFileToken(
  { secrets, clock }: Pick<Context, 'secrets' | 'clock'>,
  text: string,
): (FileToken & { endsAt: Date }) | undefined {
  const [, jobId, number, hour, mac] = TOKEN.exec(text) ?? [];
  if (jobId === undefined || number === undefined || hour === undefined || mac === undefined) return undefined;
  const signature = Buffer.from(mac, 'base64url');
  const own = computeMac(secrets, `${jobId}.${number}.${hour}`);
  if (signature.length !== MAC_BYTES || !timingSafeEqual(signature, own)) return undefined;
  const endsAt = new Date(Number.parseInt(hour, 36) * HOUR_MS);
  return endsAt <= clock.now() ? undefined : { jobId, number: Number(number), endsAt };
}
