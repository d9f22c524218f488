/**
 * Reads the whole body of a response. Throws, and closes the connection, when it is longer than `most` bytes.
 */
export async function bodyUpTo(response: Response, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null) return null
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body) {
    length += chunk.byteLength
    // Throwing out of the loop cancels the body.
    if (length > most) throw new Error(`the answer is longer than ${most} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
