import { useState } from 'react';

const TONES = 6;
/** Also the drawn ones of the sample. */
const PICTURE = /^(?:https:\/\/|data:image\/)/;

/** Up to two initials of a name. */
function toInitials(name: string): string {
  const [first, second] = name.split(/[\s._-]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  return [first, second].map((word) => Array.from(word ?? '')[0] ?? '').join('');
}

const pickTone = (name: string) =>
  Array.from(name).reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % TONES;

/** A person's picture; initials if there is none or it does not load. Their name stands beside it. */
export function Face({ name, url, isLarge = false }: { name: string; url: string | null; isLarge?: boolean }) {
  const [missing, setMissing] = useState<string>();
  const size = isLarge ? 'face large' : 'face';
  if (url !== null && PICTURE.test(url) && url !== missing) {
    return (
      <img
        className={size}
        src={url}
        alt=""
        loading="lazy"
        decoding="async"
        referrerPolicy="no-referrer"
        onError={() => setMissing(url)}
      />
    );
  }
  return (
    <span className={`${size} tone${pickTone(name)}`} aria-hidden>
      {toInitials(name).toUpperCase()}
    </span>
  );
}
