import { z } from 'zod';

/** True if a URL contains a user name or password: it would be displayed and logged, and could be mistaken for the host. */
export const hasLogin = ({ username, password }: URL): boolean => username !== '' || password !== '';

export const MAX_ADDRESS = 2_000;

/** A URL that people see or follow: http or https, without a user name and password. */
export const WebAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(MAX_ADDRESS)
  .refine((text) => !URL.canParse(text) || !hasLogin(new URL(text)), 'must not have a name or password');
