/** How a creator is named where there is room for one name alone. */
export const displayNameOf = (creator: { creatorName: string | null; creatorEmail: string | null }): string =>
  creator.creatorName ?? creator.creatorEmail ?? 'A creator';
