/** A file may use two databases of Redis, and two others when it runs again because it failed. */
export const REDIS_OF_A_FILE = 2;
export const REDIS_OF_AN_ATTEMPT = 1_024;
/** How many databases the Redis of the tests has, with the first, which all files share. */
export const REDIS_DATABASES = 1 + 2 * REDIS_OF_AN_ATTEMPT;
