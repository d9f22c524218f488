/** Not of `crypto.randomUUID`, which pages that came by plain HTTP do not have. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}
