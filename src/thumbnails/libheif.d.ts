/** What is called of it (https://github.com/strukturag/libheif, its JavaScript interface). */
declare module 'libheif-js/libheif-wasm/libheif-bundle.mjs' {
  interface HeifImage {
    get_width(): number
    get_height(): number
    is_primary(): boolean
    /** RGBA, turned as the file says; the callback gets null where it cannot be decoded. */
    display(into: HeifPixels, done: (pixels: HeifPixels | null) => void): void
    free(): void
  }
  interface HeifPixels {
    readonly data: Uint8ClampedArray
    readonly width: number
    readonly height: number
  }
  interface HeifDecoder {
    decode(file: Uint8Array): HeifImage[]
  }
  export default function libheif(): { readonly HeifDecoder: new () => HeifDecoder }
}
