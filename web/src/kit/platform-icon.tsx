import { platformName } from './platforms.ts';

/** Lines on a grid of 24. */
const SHAPES: Readonly<Record<string, string>> = {
  photo_app:
    'M8 3h8a5 5 0 0 1 5 5v8a5 5 0 0 1-5 5H8a5 5 0 0 1-5-5V8a5 5 0 0 1 5-5ZM12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM17.500 6.500h.01',
  video_app: 'M13 4v11.500a3.500 3.500 0 1 1-3.500-3.500M13 4c.3 3 2.200 5 5.500 5.200',
  stream_app: 'M6 5h12a4 4 0 0 1 4 4v6a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4V9a4 4 0 0 1 4-4ZM10 9v6l5-3-5-3Z',
};

/** The sign of a platform, with its name for people who cannot see it. */
export function PlatformIcon({ platform }: { platform: string | null }) {
  const name = platformName(platform);
  const shape = SHAPES[platform ?? ''];
  if (shape === undefined) return name;
  return (
    <svg className="platform" viewBox="0 0 24 24" role="img" aria-label={name}>
      <title>{name}</title>
      <path d={shape} />
    </svg>
  );
}
