import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addForwarded, cutDestination } from '../../src/interfaces/links-host/destinations.ts';
import { readForwarded } from '../../src/interfaces/links-host/forwarding.ts';
import { NO_UTM, toUtmFields } from '../../src/interfaces/links-host/utm.ts';
import { readCountry, readReferrerHost } from '../../src/interfaces/links-host/visit.ts';
import { detectAgent } from '../../src/kit/values/visitor.ts';
import { PHONE } from '../harness/affiliates/clicks.ts';

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

describe('the parameters of a click', () => {
  const land = (url: string, query: string) => {
    const cut = cutDestination(url);
    return cut && `${addForwarded(cut, readForwarded(query))}ID${cut.after}`;
  };

  it.each([
    [
      'https://shop.example/p?utm_source=creator&x=1',
      'utm_source=ig&utm_medium=story',
      'utm_source=ig&x=1&utm_medium=story',
    ],
    ['https://shop.example/p', 'b=2&a=1', 'b=2&a=1'],
    ['https://shop.example/p#reviews', 'a=%20+ü', 'a=%20+%FC'],
    ['https://shop.example/p?utm%5Fsource=a&y', 'utm_source=b&y=3', 'utm_source=b&y=3'],
    [
      'https://shop.example/p?size[]=1&x=1&size[]=2',
      'size[]=3&size%5B%5D=4&flag&&=',
      'size[]=3&size%5B%5D=4&x=1&flag&=',
    ],
    ['https://shop.example/p?x=1', 'click_id=mine&click%5Fid=mine&x=2', 'x=2'],
    ['https://shop.example/p?x=1', 'a=1#b=2', 'x=1&a=1'],
    ['https://shop.example/p?x=1', 'click_id=mine', 'x=1'],
    ['https://shop.example/p', 'x=%E0%A4%A&q="<\'>', 'x=%E0%A4%A&q="<\'>'],
  ])('of a link to %s?%s reach the shop as text: %s', (url, sent, query) => {
    const latin1 = Buffer.from(sent, 'latin1').toString('latin1');
    const [page, hash = ''] = url.split('?')[0]?.split('#') ?? [];
    expect(land(url, latin1)).toBe(`${page}?${query}&click_id=ID${hash && `#${hash}`}`);
  });

  it('reach it up to 1,000 bytes in all, and not at all beyond', () => {
    const long = (bytes: number) => `a=1&b=${'x'.repeat(bytes - 'a=1&b='.length)}`;
    expect(land('https://shop.example/p?a=0', long(1_000))).toBe(`https://shop.example/p?${long(1_000)}&click_id=ID`);
    expect(land('https://shop.example/p?a=0', long(1_001))).toBe('https://shop.example/p?a=0&click_id=ID');
    expect(land('https://shop.example/p', `click_id=${'x'.repeat(2_000)}&a=1`)).toBe(
      'https://shop.example/p?a=1&click_id=ID',
    );
  });

  it('never lead elsewhere, and make a header of plain ASCII, whatever they are', () => {
    const byte = fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string({ unit: byte, maxLength: 60 }), (query) => {
        const url = land('https://shop.example/p?x=1#top', query) ?? '';
        expect(url).toMatch(/^https:\/\/shop\.example\/p\?[\x21-\x7e]*#top$/);
        expect(new URL(url).searchParams.getAll('click_id')).toEqual(['ID']);
      }),
    );
  });
});

describe('the stored facts of a click', () => {
  it.each([
    ['utm_source=ig&utm_medium=story', 'ig\tstory\t\t\t'],
    ['a=1&utm%5Fcontent=Bio+link&utm_term=%C3%BC', '\t\t\tü\tBio link'],
    ['utm_source=&utm_source=b&utm_source=c&utm_medium', 'b\t\t\t\t'],
    ['utm_campaign=a%09b%0Ac%00%5C%E2%80%A8d&utm_campaign=x', '\t\ta b c \\\\ d\t\t'],
    [
      `utm_source=${'x'.repeat(101)}&utm_medium=${'%F0%9F%98%80'.repeat(70)}`,
      `${'x'.repeat(100)}\t${'😀'.repeat(70)}\t\t\t`,
    ],
    ['utm_source=%E0%A4%A&utm_medium=a=b', '\ufffd%A\ta=b\t\t\t'],
    ['UTM_SOURCE=a&utm_id=b&x=1', NO_UTM],
    ['utm_source=%20%09', NO_UTM],
  ])('are the utm_ values of %s, each on one line and up to 100 characters', (query, fields) => {
    expect(toUtmFields(readForwarded(query))).toBe(fields);
  });

  it('include the device', () => {
    expect(detectAgent(PHONE).device).toBe('mobile');
    expect(detectAgent('Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0 Mobile Safari/537.36').device).toBe(
      'mobile',
    );
    expect(detectAgent('Mozilla/5.0 (Linux; Android 14; SM-X710) Chrome/126.0 Safari/537.36').device).toBe('tablet');
    expect(detectAgent('Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) Mobile/15E148').device).toBe('tablet');
    expect(detectAgent('Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0.0.0 Safari/537.36').device).toBe(
      'desktop',
    );
    // The browsers inside social apps are people.
    expect(detectAgent(`${PHONE} Instagram 336.0.5.22.87 (iPhone14,3; iOS 17_5; en_US)`).device).toBe('mobile');
    expect(detectAgent(`${PHONE} [FBAN/FBIOS;FBAV/465.0;FBBV/602]`).device).toBe('mobile');
    const phone =
      'Mozilla/5.0 (Linux; Android 13; SM-S908B Build/TP1A; wv) Version/4.0 Chrome/123.0 Mobile Safari/537.36';
    const android = 'Android (33/13; 480dpi; 1080x2181; samsung)';
    expect(detectAgent(`${phone} Instagram 320.0.0.42.101 ${android}`).device).toBe('mobile');
    expect(detectAgent(`${phone} Snapchat/12.85.0.43 (SM-S908B; Android 13#20240101; gzip)`).device).toBe('mobile');
    expect(detectAgent(`${phone} [Pinterest/Android]`).device).toBe('mobile');
    expect(detectAgent(`${phone.replace(' Mobile', '')} Instagram 320.0.0.42.101 ${android}`).device).toBe('tablet');
    for (const bot of [
      'Googlebot/2.1',
      'Slackbot-LinkExpanding 1.0',
      'Twitterbot/1.0',
      'WhatsApp/2.24',
      'curl/8.5.0',
    ]) {
      expect([bot, detectAgent(bot).device]).toEqual([bot, 'bot']);
    }
  });

  it('tell 300 phones from 300 robots, each as a public list of user agents has it', () => {
    const lines = readFileSync('test/fixtures/agents.tsv', 'utf8').trim().split('\n');
    const wrong = lines.filter((line) => {
      const [is, , agent] = line.split('\t');
      return (detectAgent(agent).device === 'bot') !== (is === 'bot');
    });
    expect([lines.length >= 600, wrong]).toEqual([true, []]);
  });

  it('name the rule that decided', () => {
    const model = 'Mozilla/5.0 (Linux; Android 7.0; M bot 60 Build/NRD90M; wv) AppleWebKit/537.36 (KHTML, like Gecko)';
    const browser = `${model} Version/4.0 Chrome/67.0.3396.87 Mobile Safari/537.36`;
    expect(detectAgent(browser)).toEqual({ device: 'mobile', rule: 'android_browser' });
    expect(detectAgent(`${browser} (compatible; Foobot/1.0)`)).toEqual({ device: 'bot', rule: 'isbot' });
    expect(detectAgent(browser.replace('M bot 60', 'Foobot/1.0'))).toEqual({ device: 'bot', rule: 'isbot' });
    expect(detectAgent('Mikrotik/7.x Fetch')).toEqual({ device: 'bot', rule: 'link_programs' });
    expect([detectAgent(PHONE).rule, detectAgent('').rule]).toEqual(['', 'no_agent']);
  });

  it('count the browsers inside apps on a phone whose model is called bot, whatever the app adds', () => {
    const model = 'Mozilla/5.0 (Linux; Android 10; M bot 60; wv) AppleWebKit/537.36 (KHTML, like Gecko)';
    const browser = `${model} Version/4.0 Chrome/125.0.0.0 Mobile Safari/537.36`;
    for (const app of [
      'musical_ly_2023405030 JsSdk/1.0 NetType/WIFI Channel/googleplay AppName/musical_ly BytedanceWebview/d8a21c6',
      'Barcelona 334.0.0.42.95 Android (29/10; 320dpi; 720x1440; Bot; M bot 60; M_bot_60; mt6739; en_US; 610)',
      'GSA/15.20.36',
      'LinkedInApp',
      'DuckDuckGo/5',
      'TwitterAndroid',
    ]) {
      expect(detectAgent(`${browser} ${app}`), app).toEqual({ device: 'mobile', rule: 'android_model' });
      expect(detectAgent(`${browser} ${app} Foobot/1.0`).device, app).toBe('bot');
    }
    for (const library of ['Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8)', 'Viber/13.3 CFNetwork/1209 Darwin/20.2.0']) {
      expect(detectAgent(library)).toEqual({ device: 'bot', rule: 'app_libraries' });
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
