import { z } from 'zod';
import { withoutMarks } from './text.ts';

/** True if a URL contains a user name or password: it would be displayed and logged, and could be mistaken for the host. */
export const hasLogin = ({ username, password }: URL): boolean => username !== '' || password !== '';

/** A host with a dot, a port, and the rest: what people type who leave out the scheme. */
const WITHOUT_SCHEME = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?::\d+)?(?:[/?#]|$)/u;

/** Completes an address that somebody typed without `https://`; anything else stays as it is. */
export const withScheme = (typed: string): string => (WITHOUT_SCHEME.test(typed) ? `https://${typed}` : typed);

export const MAX_ADDRESS = 2_000;

const openAddress = (protocol: RegExp, error: string) =>
  z
    .url({ protocol, error })
    .max(MAX_ADDRESS)
    // An address is often copied from a chat, whose invisible marks would lead elsewhere.
    .overwrite(withoutMarks)
    .refine((text) => !URL.canParse(text) || !hasLogin(new URL(text)), 'must not have a name or password');

/** A URL that people see or follow: http or https, without a user name and password. */
export const WebAddress = openAddress(/^https?$/, 'must be an http or https address');

/** A picture within its own address, which loads nothing. */
export const PICTURE_IN_URL = /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+=*$/;

const PICTURE = 'must be an http or https address, or a picture as data:image/png, jpeg, webp or svg+xml in base64';

/** The address of a picture on the web, or a small picture within its address. */
export const PictureAddress = openAddress(/^(?:https?|data)$/, PICTURE).refine(
  (text) => !/^data:/i.test(text) || PICTURE_IN_URL.test(text),
  PICTURE,
);
