/** Tells URLs from paths of lists, before anything is loaded that fetches them. */
export const isListUrl = (path: string): boolean => /^https?:\/\//i.test(path);
