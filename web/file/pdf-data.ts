/**
 * What documents count on and do not bring along: tables of Asian encodings, the standard fonts, decoders of old picture
 * formats. The page fetches it, so that the worker that reads the document needs no network at all.
 */
export function pdfDataReaders(prefix: string) {
  async function read(name: string): Promise<Uint8Array> {
    // Encodings are named by the document.
    if (!/^[\w-]+\.[a-z0-9]+$/i.test(name)) throw new Error('no name of such data')
    const response = await fetch(prefix + name)
    if (!response.ok) throw new Error(`answered ${response.status}`)
    return new Uint8Array(await response.arrayBuffer())
  }
  class ByFileName {
    fetch({ filename }: { filename: string }): Promise<Uint8Array> {
      return read(filename)
    }
  }
  class ByEncoding {
    async fetch({ name }: { name: string }) {
      return { cMapData: await read(`${name}.bcmap`), isCompressed: true }
    }
  }
  return { CMapReaderFactory: ByEncoding, StandardFontDataFactory: ByFileName, WasmFactory: ByFileName }
}
