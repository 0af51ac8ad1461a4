import { describe, expect, test } from 'vitest';
import { parseHandleAddress, readHandle } from '../../src/kit/values/handle-address.ts';

describe('the address of a profile', () => {
  test.each([
    ...['https://www.instagram.com/dr.cocktail/', 'instagram.com/dr.cocktail', 'http://instagram.com/dr.cocktail'],
    ...['https://instagram.com/dr.cocktail?igsh=abc', 'm.instagram.com/dr.cocktail/', 'instagr.am/dr.cocktail'],
    ...['https://www.instagram.com/_u/dr.cocktail/', 'https://www.instagram.com/stories/dr.cocktail/3141592653/'],
    ...['https://www.instagram.com/n/dr.cocktail/', 'instagram.com/u/dr.cocktail?utm_source=mail'],
    ...['https://www.instagram.com/dr.cocktail/reels/', 'instagram.com/dr.cocktail/tagged/?hl=en#top'],
    ...['HTTPS://WWW.INSTAGRAM.COM/dr.cocktail', '//instagram.com/dr.cocktail', 'instagram.com//dr.cocktail//'],
    ...[
      'instagram.com/@dr.cocktail',
      'instagram.com/%40dr.cocktail',
      ' @instagram.com/dr.cocktail ',
      '\u2068instagram.com/dr.cocktail\u2069',
      '<https://instagram.com/dr.cocktail>',
      '“instagram.com/dr.cocktail”,',
      '(instagram.com/dr.cocktail.)',
      '[Dr. C](https://instagram.com/dr.cocktail)',
      'instagram://user?username=dr.cocktail',
      'instagram.com/dr.cocktail%20',
    ],
  ])('%s is a handle on Instagram', (text) => {
    expect(parseHandleAddress(text)).toEqual({ platform: 'photo_app', handle: 'dr.cocktail' });
    expect(readHandle(text, 'photo_app')).toEqual({ handle: 'dr.cocktail' });
  });

  test.each([
    ...['https://www.tiktok.com/@ana.cooks', 'tiktok.com/@ana.cooks/', 'm.tiktok.com/@ana.cooks?lang=de-DE&_t=8'],
    ...['https://www.tiktok.com/@ana.cooks/live', 'tiktok.com/%40ana.cooks'],
  ])('%s is a handle on TikTok', (text) => {
    expect(readHandle(text, 'video_app')).toEqual({ handle: 'ana.cooks' });
    expect(readHandle(text, 'photo_app')).toEqual({ problem: 'other_platform', platform: 'video_app' });
  });

  test.each(['https://www.youtube.com/@ana', 'youtube.com/c/ana', 'm.youtube.com/user/ana/videos'])(
    '%s belongs to YouTube',
    (text) => {
      expect(parseHandleAddress(text)).toEqual({ platform: 'stream_app', handle: 'ana' });
      expect(readHandle(text, 'photo_app')).toEqual({ problem: 'other_platform', platform: 'stream_app' });
    },
  );

  test.each(['https://x.com/ana', 'twitter.com/ana', 'https://www.threads.net/@ana', 'facebook.com/ana'])(
    '%s belongs to a platform that no field takes',
    (text) => {
      expect(readHandle(text, 'photo_app')).toEqual({ problem: 'other_platform', platform: 'other' });
    },
  );
});

describe('no profile', () => {
  test.each([
    ...[
      'https://www.instagram.com/p/C1a2b3c4d5e/',
      'instagram.com/reel/C1a2b3c4d5e',
      'instagram.com/ana/p/C1a2b3c4d5e/',
    ],
    ...['https://www.instagram.com/ana/reel/C1a2b3c4d5e/', 'https://www.instagram.com/stories/highlights/1789/'],
    ...['instagram.com/create/story'],
    ...['instagram.com/explore/tags/food/', 'instagram.com/accounts/login', 'instagram.com', 'https://instagram.com/'],
    ...['ig.me/m/ana', 'help.instagram.com/ana', 'instagram.com/...', 'instagram.com/a b', 'instagram.com/%zz'],
  ])('is at %s', (text) => {
    expect(readHandle(text, 'photo_app')).toEqual({ problem: 'not_a_profile' });
  });

  test.each([
    ...[
      'https://www.tiktok.com/@ana/video/7301234567890123456',
      'https://vm.tiktok.com/ZMabc123/',
      'vt.tiktok.com/ZS1/',
    ],
    ...['https://www.tiktok.com/discover', 'tiktok.com/t/ZT8abc/', 'https://www.tiktok.com/@ana/photo/73'],
  ])('is at %s', (text) => {
    expect(readHandle(text, 'video_app')).toEqual({ problem: 'not_a_profile' });
  });
});

describe('a handle', () => {
  test.each([
    ['@ana', 'ana'],
    ['@@ana', 'ana'],
    ['ana.com', 'ana.com'],
    ['x.com', 'x.com'],
    ['@instagram.com', 'instagram.com'],
    ['dr.four/', 'dr.four'],
    [' ana_b-c ', 'ana_b-c'],
    ['ana.', 'ana'],
    ['ana.veg…', 'ana.veg…'],
    ['ana.veg...', 'ana.veg...'],
    ['ａｎａ．ｖｅｇａ', 'ana.vega'],
    ['𝗮𝗻𝗮_𝟭', 'ana_1'],
    ['ﬁt.ana', 'fit.ana'],
    ['ana\u200d.vega\ufe0f', 'ana.vega'],
    ['🌸 @ana.vega 🌸', 'ana.vega'],
    ['**@ana**', 'ana'],
    ['‘ana’', 'ana'],
    ['aná', 'aná'],
    ['ana@instagram.com', 'ana@instagram.com'],
    ['https://shop.example/ana', 'https://shop.example/ana'],
    ['notinstagram.com/ana', 'notinstagram.com/ana'],
  ])('%s is no address and stays as it is', (text, handle) => {
    expect(parseHandleAddress(text)).toBeUndefined();
    expect(readHandle(text, 'photo_app')).toEqual({ handle });
  });
});
