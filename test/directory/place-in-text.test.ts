import { describe, expect, test } from 'vitest';
import { findPlaceInText } from '../../src/directory/search/place-in-text.ts';

describe('a text', () => {
  test.each([
    ['skincare NYC', 'skincare', 'city', 'NYC'],
    ['beauty in NYC', 'beauty', 'city', 'NYC'],
    ['vegan chef based in Austin, TX', 'vegan chef', 'city', 'Austin, TX'],
    ['surfer San Francisco CA', 'surfer', 'city', 'San Francisco CA'],
    ['mom blogger Dallas area', 'mom blogger', 'city', 'Dallas area'],
    ['nail art near Munich', 'nail art', 'city', 'Munich'],
    ['food München', 'food', 'city', 'München'],
    ['yoga in the Bay Area', 'yoga', 'city', 'the Bay Area'],
    ['based in Denver yoga', 'yoga', 'city', 'Denver'],
    ['Berlin based makeup', 'makeup', 'city', 'Berlin'],
    ['LA fitness', 'fitness', 'city', 'LA'],
    ['makeup California', 'makeup', 'state', 'California'],
    ['makeup CA', 'makeup', 'state', 'CA'],
    ['fitness from Germany', 'fitness', 'country', 'Germany'],
    ['skincare Texas, USA', 'skincare', 'state', 'Texas, USA'],
    ['travel UK', 'travel', 'country', 'UK'],
    ['food in london uk', 'food', 'city', 'london uk'],
    ['chef from the UK', 'chef', 'country', 'UK'],
    ['makeup artist, Los Angeles', 'makeup artist', 'city', 'Los Angeles'],
    ['makeup artist (Los Angeles)', 'makeup artist', 'city', 'Los Angeles'],
    ['makeup artist - Austin TX', 'makeup artist', 'city', 'Austin TX'],
    ['yoga teacher | 📍Berlin', 'yoga teacher', 'city', 'Berlin'],
    ['runners who live in Denver', 'runners', 'city', 'Denver'],
  ])('%s is %s in a place', (q, text, parameter, place) => {
    expect(findPlaceInText(q)).toMatchObject({ text, parameter, place });
  });

  test.each([
    'vegan',
    'Ana Vega',
    'London',
    'in London',
    'cook OR',
    'tell ME',
    'say NO',
    'call IT',
    'Chelsea Clay',
    '🌸 NYC',
  ])('%s has no place beside other words', (q) => {
    expect(findPlaceInText(q)).toBeUndefined();
  });
});
