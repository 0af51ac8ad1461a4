/** Where the manual says more after a failure. */
export const readMore = (page: string) => `Read more in docs/${page}.md, or at /manual/${page} of a running server.`;
