/** Throws, and closes the connection, when the body is longer than `most` bytes. */
export async function bodyUpTo(response: Response, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null) return null
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body) {
    length += chunk.byteLength
    if (length > most) throw new Error(`the answer is longer than ${most} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
