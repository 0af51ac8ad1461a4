interface NamedCreator {
  creator_name: string | null;
  creator_email: string | null;
  ig_handle: string | null;
  tt_handle: string | null;
}

/** The best name that is known of a creator. */
export function creatorName({ creator_name, creator_email, ig_handle, tt_handle }: NamedCreator): string {
  const handle = ig_handle ?? tt_handle;
  return creator_name ?? creator_email ?? (handle === null ? 'Unnamed creator' : `@${handle}`);
}

/** A handle or email address that the name does not say already. */
export function creatorSecond(creator: NamedCreator): string | null {
  const { ig_handle, tt_handle, creator_email } = creator;
  const handle = ig_handle ?? tt_handle;
  const identifiers = [handle === null ? null : `@${handle}`, creator_email];
  return identifiers.find((one) => one !== null && one !== creatorName(creator)) ?? null;
}
