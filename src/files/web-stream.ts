/** Streams of the web platform, which Node.js and browsers share. */

/** Cancels the stream if the iteration ends early. Not every browser can iterate over a stream. */
export async function* piecesOf<Piece>(stream: ReadableStream<Piece>): AsyncGenerator<Piece> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
