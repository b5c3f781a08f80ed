/** What the browser build puts in the place of Node's module `path`: the paths of parts of an archive. */
export const posix = {
  parse(path: string): { dir: string; base: string } {
    const end = path.lastIndexOf("/");
    return { dir: end === 0 ? "/" : path.slice(0, Math.max(0, end)), base: path.slice(end + 1) };
  },
  resolve(from: string, path: string): string {
    const names: string[] = [];
    for (const name of (path.startsWith("/") ? path : `${from}/${path}`).split("/")) {
      if (name === "..") names.pop();
      else if (name !== "" && name !== ".") names.push(name);
    }
    return `/${names.join("/")}`;
  },
};
