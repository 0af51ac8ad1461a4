export const NOT_COPIED = 'Could not copy: select the text.';

/** False if the text was not copied: there is no clipboard on plain HTTP, and a person may deny access to it. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
