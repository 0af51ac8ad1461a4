export const PLATFORMS = ['photo_app', 'video_app', 'stream_app'] as const;

const NAMES = new Map([
  ['photo_app', 'Instagram'],
  ['video_app', 'TikTok'],
  ['stream_app', 'YouTube'],
]);

/** The common name of a platform. */
export const platformName = (platform: string): string => NAMES.get(platform) ?? platform;
