import { z } from 'zod';

/** Whether an address carries a name or password: it would be shown, logged, and taken for the host by a quick reader. */
export const hasLogin = ({ username, password }: URL): boolean => username !== '' || password !== '';

export const MAX_ADDRESS = 2_000;

/** An address that people are shown or sent to: http or https, without a name and password. */
export const WebAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(MAX_ADDRESS)
  .refine((text) => !URL.canParse(text) || !hasLogin(new URL(text)), 'must not have a name or password');
