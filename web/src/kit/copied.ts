export const NOT_COPIED = 'Could not copy: select the text.';

/** Whether a text was copied: a browser has no clipboard on plain HTTP, and may be told not to allow it. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
