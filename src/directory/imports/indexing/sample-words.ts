/** The topics of sample creators. Each theme gives a category, its niches and the nouns of a biography. */
export const THEMES: ReadonlyArray<readonly [category: string, niches: string, nouns: string]> = [
  ['Fitness', 'strength training, crossfit, calisthenics, home workouts', 'barbells, sweat, training plans, recovery'],
  ['Yoga', 'vinyasa, yin yoga, breathwork, meditation', 'stillness, flow, breath, mornings on the mat'],
  ['Running', 'marathon, trail running, parkrun', 'long runs, finish lines, muddy trails'],
  ['Cycling', 'gravel, road cycling, bikepacking', 'climbs, café stops, two wheels'],
  ['Beauty', 'skincare, makeup, nails, clean beauty', 'serums, lipstick, glow, honest reviews'],
  ['Hair', 'curly hair, hair color, braids', 'curls, color, volume'],
  ['Fashion', 'streetwear, vintage, capsule wardrobe, plus size fashion', 'outfits, thrift finds, linen, sneakers'],
  ['Jewelry', 'handmade jewelry, watches', 'silver, stones, small batches'],
  ['Food', 'vegan cooking, street food, meal prep, bbq', 'recipes, spice, slow dinners, leftovers'],
  ['Baking', 'sourdough, cakes, pastry', 'butter, crumb, flour everywhere'],
  ['Coffee', 'espresso, latte art, home barista', 'beans, crema, quiet mornings'],
  ['Wine', 'natural wine, cocktails, craft beer', 'pairings, cellars, tastings'],
  ['Travel', 'solo travel, budget travel, luxury travel, van life', 'passports, sunsets, hidden beaches, trains'],
  ['Outdoors', 'hiking, camping, climbing, national parks', 'peaks, maps, campfires'],
  ['Surfing', 'longboard, kitesurfing', 'waves, wax, salt'],
  ['Skiing', 'snowboarding, backcountry', 'powder, lifts, cold hands'],
  ['Gaming', 'esports, speedrunning, indie games, cozy games', 'streams, patches, late nights'],
  ['Technology', 'gadgets, smart home, ai tools, coding', 'reviews, code, teardowns'],
  ['Photography', 'portrait, film photography, drone, street photography', 'light, film rolls, golden hour'],
  ['Film', 'short films, film reviews, screenwriting', 'scenes, cuts, popcorn'],
  ['Music', 'indie music, hip hop, jazz, music production', 'riffs, vinyl, stages'],
  ['Dance', 'salsa, ballet, hip hop dance', 'rhythm, rehearsals, encores'],
  ['Comedy', 'sketches, stand up, memes', 'jokes, awkward moments'],
  ['Books', 'fantasy books, romance books, poetry', 'chapters, shelves, tea'],
  ['Art', 'watercolor, digital art, ceramics, murals', 'paint, clay, sketchbooks'],
  ['DIY', 'woodworking, upcycling, sewing', 'sawdust, thread, projects'],
  ['Home Decor', 'interior design, small spaces, renovation', 'rooms, paint chips, plants'],
  ['Gardening', 'houseplants, vegetable garden, permaculture', 'seeds, soil, tomatoes'],
  ['Parenting', 'motherhood, fatherhood, homeschooling, toddler', 'bedtime, snacks, small hands'],
  ['Pregnancy', 'postpartum, baby gear', 'bumps, naps, lists'],
  ['Pets', 'dogs, cats, rescue animals', 'paws, zoomies, treats'],
  ['Horses', 'dressage, western riding', 'saddles, stables'],
  ['Finance', 'personal finance, investing, frugal living', 'budgets, index funds, side income'],
  ['Business', 'entrepreneurship, ecommerce, real estate, marketing', 'founders, numbers, lessons'],
  ['Education', 'language learning, science, history', 'lessons, maps, why things work'],
  ['Health', 'nutrition, mental health, gut health, sleep', 'habits, greens, rest'],
  ['Nursing', 'medicine, dentistry', 'night shifts, scrubs'],
  ['Weddings', 'wedding planning, bridal', 'vows, flowers, venues'],
  ['Cars', 'classic cars, motorcycles, electric cars', 'engines, road trips, garages'],
  ['Sports', 'basketball, soccer, tennis, golf', 'match days, drills, teammates'],
];

/** First names with their most common gender. Names repeat, so that usernames resemble each other. */
export const FIRST_NAMES: ReadonlyArray<readonly [string, 'female' | 'male']> = [
  ...'Anna,Maria,Sofía,Chloé,Zoë,Emma,Olivia,Camila,Priya,Aïcha,Ingrid,Yuki,Mei,Fatima,Léa,Inês,Anaïs,Renée,Grace,Ruby'
    .split(',')
    .map((name) => [name, 'female'] as const),
  ...'José,Luís,Noah,Liam,André,Björn,Mateo,Arjun,Omar,Kenji,Jürgen,Søren,Łukasz,Tomás,Dwayne,Marcus,Ethan,Ravi,Hugo,Max'
    .split(',')
    .map((name) => [name, 'male'] as const),
];

export const LAST_NAMES =
  'García,Smith,Müller,Nguyen,Santos,Kim,Patel,Johnson,Muñoz,Dubois,Rossi,Kowalski,Ó Brien,Okafor,Campbell,Tanaka,Silva,Haddad,Larsen,Brown,Peña,Čech,Williams,Lee,Gordon'.split(
    ',',
  );

export const BIO_OPENINGS =
  'I love,Sharing,All about,Here for,Obsessed with,Daily,Honest notes on,My life with,Teaching you,Collecting,Big fan of,Living for'.split(
    ',',
  );
export const BIO_LINKS = 'and,plus,with a bit of,between,never without,mostly'.split(',');
export const BIO_ENDINGS = [
  'based in the city',
  'collabs by email',
  'new post every week ✨',
  'she/her',
  'dad of two',
  'mother of three',
  'coffee first ☕',
  'link below 👇',
  'as seen on TV',
  'say "hi"!',
];
