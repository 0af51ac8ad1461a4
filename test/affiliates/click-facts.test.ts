import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutDestination } from '../../src/interfaces/links-host/destinations.ts';
import { readCountry, readReferrerHost } from '../../src/interfaces/links-host/visit.ts';
import { detectDevice } from '../../src/kit/values/visitor.ts';
import { PHONE } from '../harness/clicks.ts';

describe('a destination', () => {
  it('keeps its query and fragment unchanged, except for an existing click id', () => {
    const led = (url: string) => {
      const cut = cutDestination(url);
      return cut && `${cut.before}ID${cut.after}`;
    };
    expect(led('https://shop.example')).toBe('https://shop.example/?click_id=ID');
    expect(led('https://shop.example/a?x=%20+1&y#top')).toBe('https://shop.example/a?x=%20+1&y&click_id=ID#top');
    expect(led('https://shop.example/?click_id=old&x=1&click%5Fid=older')).toBe(
      'https://shop.example/?x=1&click_id=ID',
    );
    expect(led('javascript:alert(1)')).toBeUndefined();
    expect(led('//shop.example')).toBeUndefined();
    expect(led('data:text/html,x')).toBeUndefined();
  });

  it('stays on its host and is a header of plain ASCII, whatever the URL', () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withFragments: true, withQueryParameters: true }),
        fc.string({ unit: 'binary' }),
        (url, tail) => {
          const cut = cutDestination(`${url}/${tail}`);
          const whole = `${cut?.before}ID${cut?.after}`;
          expect(whole).toMatch(/^[\x21-\x7e]+$/);
          expect(new URL(whole).host).toBe(new URL(url).host);
          expect(new URL(whole).searchParams.getAll('click_id')).toEqual(['ID']);
        },
      ),
    );
  });
});

describe('the stored facts of a click', () => {
  it('include the device', () => {
    expect(detectDevice(PHONE)).toBe('mobile');
    expect(detectDevice('Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0 Mobile Safari/537.36')).toBe('mobile');
    expect(detectDevice('Mozilla/5.0 (Linux; Android 14; SM-X710) Chrome/126.0 Safari/537.36')).toBe('tablet');
    expect(detectDevice('Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) Mobile/15E148')).toBe('tablet');
    expect(detectDevice('Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0.0.0 Safari/537.36')).toBe('desktop');
    // The browsers inside social apps are people.
    expect(detectDevice(`${PHONE} Instagram 336.0.5.22.87 (iPhone14,3; iOS 17_5; en_US)`)).toBe('mobile');
    expect(detectDevice(`${PHONE} [FBAN/FBIOS;FBAV/465.0;FBBV/602]`)).toBe('mobile');
    const phone =
      'Mozilla/5.0 (Linux; Android 13; SM-S908B Build/TP1A; wv) Version/4.0 Chrome/123.0 Mobile Safari/537.36';
    const android = 'Android (33/13; 480dpi; 1080x2181; samsung)';
    expect(detectDevice(`${phone} Instagram 320.0.0.42.101 ${android}`)).toBe('mobile');
    expect(detectDevice(`${phone} Snapchat/12.85.0.43 (SM-S908B; Android 13#20240101; gzip)`)).toBe('mobile');
    expect(detectDevice(`${phone} [Pinterest/Android]`)).toBe('mobile');
    expect(detectDevice(`${phone.replace(' Mobile', '')} Instagram 320.0.0.42.101 ${android}`)).toBe('tablet');
    for (const bot of [
      'Googlebot/2.1',
      'Slackbot-LinkExpanding 1.0',
      'Twitterbot/1.0',
      'WhatsApp/2.24',
      'curl/8.5.0',
    ]) {
      expect([bot, detectDevice(bot)]).toEqual([bot, 'bot']);
    }
  });

  it('include only the host of the referrer, and a code for the country', () => {
    expect(readReferrerHost('https://user@Photo.Example:8443/p?q#f')).toBe('photo.example');
    expect(readReferrerHost('android-app://com.example')).toBe('');
    expect(readCountry({ 'x-vercel-ip-country': 'BR' })).toBe('BR');
    expect(readCountry({ 'cf-ipcountry': 'XX', 'x-country-code': 'US' })).toBe('');
    expect(readCountry({ 'cf-ipcountry': 'T1' })).toBe('');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(readReferrerHost(`https://${text}`)).toMatch(/^[a-z0-9.-]*$/);
        expect(readCountry({ 'x-country-code': text })).toMatch(/^(?:[A-Z]{2})?$/);
      }),
    );
  });
});
