/** Width and height in pixels, from the first chunk (RFC 9649 §2). Throws for what is no WebP. */
export function sizeOfWebp(bytes: Uint8Array): { readonly width: number; readonly height: number } {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (view.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 }
    case 'VP8L': {
      const packed = view.readUInt32LE(21)
      return { width: (packed & 0x3fff) + 1, height: ((packed >> 14) & 0x3fff) + 1 }
    }
    case 'VP8 ':
      return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff }
    default:
      throw new Error('this is no WebP')
  }
}
