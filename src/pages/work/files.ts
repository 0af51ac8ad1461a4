export const MAX_FILES = 5;
export const MAX_FILE_BYTES = 100 * 1024 * 1024;
