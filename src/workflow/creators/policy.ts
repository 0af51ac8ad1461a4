/** The one name shown for a creator. */
export const displayNameOf = (creator: { creatorName: string | null; creatorEmail: string | null }): string =>
  creator.creatorName ?? creator.creatorEmail ?? 'A creator';
