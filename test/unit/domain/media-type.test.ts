import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mediaType, mediaTypeOfName, nameByContent } from '../../../src/domain/media-type.ts'
import { isInlineSafe } from '../../../src/domain/safe-types.ts'
import { runsOf } from '../../support/cases.ts'

const NOTHING = new Uint8Array()
const PNG = Uint8Array.from(
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a49444154', 'hex'),
)

describe('mediaType', () => {
  test.each([
    ['a.mp4', 'video/mp4'],
    ['a.MP4', 'video/mp4'],
    ['a.mkv', 'video/x-matroska'],
    ['a.webm', 'video/webm'],
    ['a.mov', 'video/quicktime'],
    ['a.3gpp', 'video/3gpp'],
    ['a.mp3', 'audio/mpeg'],
    ['a.m4a', 'audio/mp4'],
    ['a.wav', 'audio/wav'],
    ['a.flac', 'audio/flac'],
    ['a.ogg', 'audio/ogg'],
    ['a.png', 'image/png'],
    ['a.jpg', 'image/jpeg'],
    ['a.jpeg', 'image/jpeg'],
    ['a.jfif', 'image/jpeg'],
    ['a.svg', 'image/svg+xml'],
    ['a.bmp', 'image/bmp'],
    ['a.ico', 'image/vnd.microsoft.icon'],
    ['a.html', 'text/html'],
    ['a.js', 'text/javascript'],
    ['a.mjs', 'text/javascript'],
    ['a.css', 'text/css'],
    ['a.txt', 'text/plain'],
    ['a.md', 'text/markdown'],
    ['a.csv', 'text/csv'],
    ['a.rs', 'text/plain'],
    ['a.xml', 'application/xml'],
    ['a.json', 'application/json'],
    ['a.pdf', 'application/pdf'],
    ['a.rtf', 'application/rtf'],
    ['a.zip', 'application/zip'],
    ['a.rar', 'application/vnd.rar'],
    ['a.tar.gz', 'application/gzip'],
    ['a.exe', 'application/x-msdownload'],
    ['a.deb', 'application/x-debian-package'],
    ['a.iso', 'application/x-iso9660-image'],
    ['a.bin', 'application/octet-stream'],
    ['a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ])('of %p is %p, whatever is declared', async (name, type) => {
    expect(await mediaType(name, 'x-wrong/declared', NOTHING)).toBe(type)
  })

  test.each([
    ...[
      'index.ts',
      'index.mts',
      'a.py',
      'a.go',
      'a.tsx',
      'a.kt',
      'a.swift',
      'a.vue',
      'a.svelte',
      'a.jsonl',
      'a.rb',
    ],
    ...['a.R', 'a.scala', 'a.zig', 'a.nix', '.env', 'a.env', 'Dockerfile', 'id_rsa.pub', 'a.vhd', 'run.bat'],
  ])('of source code named %p is text, and of anything else is not', async (name) => {
    // The first two letters are the mark of a picture.
    expect(await mediaType(name, null, Buffer.from('BM = naïve\n\t// ok\r\n'))).toBe('text/plain')
    expect(await mediaType(name, null, Buffer.from([0, 1, 2, 3]))).not.toStartWith('text/')
  })

  test('of source code is what is declared where no list has its extension', async () => {
    expect(await mediaType('a.py', 'text/x-python', Buffer.from('import os\n'))).toBe('text/x-python')
  })

  test('of source code whose head ends within a character is text', async () => {
    expect(await mediaType('a.ts', null, Buffer.from('é').subarray(0, 1))).toBe('text/plain')
  })

  test.each(['film.ts', 'film.mts'])('of a film named %p is an MPEG transport stream', async (name) => {
    const packets = new Uint8Array(188 * 4).fill(0xff)
    for (let at = 0; at < packets.length; at += 188) packets.set([0x47, 0x40, 0x00, 0x10], at)
    expect(await mediaType(name, null, packets)).toBe('video/mp2t')
    expect(await mediaType(name, null, NOTHING)).toBe('video/mp2t')
  })

  test.each([
    ['text/x-special', 'text/x-special'],
    ['Text/X-Special; charset=utf-8', 'text/x-special'],
    [' image/png ', 'image/png'],
    ['application/vnd.a+b.c-d_e', 'application/vnd.a+b.c-d_e'],
  ])('without a known extension is the declared one: %p gives %p', async (declared, type) => {
    expect(await mediaType('README', declared, NOTHING)).toBe(type)
    expect(await mediaType('a.nosuchextension', declared, PNG)).toBe(type)
  })

  test.each([
    null,
    '',
    'application/octet-stream',
    'Application/Octet-Stream; x=y',
    'image',
    'image/',
    '/png',
    '*/*',
    'image/*',
    'a b/c',
    'text/html\r\nX: y',
    'text/plain/more',
    `a/${'b'.repeat(128)}`,
  ])('comes from the first bytes when %p is declared', async (declared) => {
    expect(await mediaType('README', declared, PNG)).toBe('image/png')
    expect(await mediaType('README', declared, NOTHING)).toBe('application/octet-stream')
  })

  test.each([
    ['opus', Buffer.from(`OggS\0\x02${'\0'.repeat(22)}OpusHead`, 'latin1')],
    ['m4a', Buffer.from('\0\0\0\x18ftypM4A \0\0\0\0M4A isom', 'latin1')],
    ['png', PNG],
  ])('of a file in the format %p is the same by its content as by its name', async (extension, head) => {
    const named = await mediaType(`a.${extension}`, null, head)
    expect(await mediaType('a', null, head)).toBe(named)
    expect(await mediaType(await nameByContent(head, null), null, head)).toBe(named)
    expect(isInlineSafe(named)).toBe(true)
  })

  test.each([
    ['in UTF-16', Buffer.from('\ufeffWhat a shell of Windows writes into a file', 'utf16le')],
    ['in colours', Buffer.from('\x1b[32mok\x1b[0m\x07 done\b\n')],
    ['that is all ASCII', Buffer.from('BM = 1\n')],
  ])('of a text %s is the same by whatever way it came', async (_, head) => {
    expect(await nameByContent(head, null)).toBe('text.txt')
    expect(await mediaType('run.ps1', null, head)).toBe('text/plain')
  })

  test.each(['cr2', 'cr3', 'nef', 'arw', 'raf', 'orf', 'rw2', 'dng', 'heic', 'avif', 'jxl'])(
    'of a photo is told by the extension %p alone, by which links take pictures',
    (extension) => {
      expect(mediaTypeOfName(`DSC_0001.${extension.toUpperCase()}`)).toStartWith('image/')
    },
  )

  test.each(['__proto__', 'a.__proto__', 'a.constructor', 'a.toString', ''])(
    'of a file named %p is not found in a prototype',
    async (name) => {
      expect(await mediaType(name, null, NOTHING)).toBe('application/octet-stream')
    },
  )

  test('is a well-formed type for any name, declaration and content', async () => {
    const magic = fc.constantFrom(
      '1f8b0800',
      '504b0304',
      '1a45dfa3',
      '52494646',
      '49492a00',
      'fffb',
      '4f676753',
      '',
    )
    const head = fc
      .tuple(magic, fc.uint8Array({ maxLength: 600 }))
      .map(([start, rest]) => new Uint8Array([...Buffer.from(start, 'hex'), ...rest]))
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.option(fc.string()), head, async (name, declared, bytes) => {
        expect(await mediaType(name, declared, bytes)).toMatch(
          /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/,
        )
      }),
      { numRuns: runsOf(300) },
    )
  })
})

describe('isInlineSafe', () => {
  test.each([
    'a.png',
    'a.jpg',
    'a.gif',
    'a.webp',
    'a.avif',
    'a.ico',
    'a.mp4',
    'a.webm',
    'a.mkv',
    'a.mp3',
    'a.wav',
    'a.txt',
  ])('lets %p be shown', async (name) => {
    expect(isInlineSafe(await mediaType(name, null, NOTHING))).toBe(true)
  })

  test.each([
    'a.html',
    'a.htm',
    'a.xhtml',
    'a.shtml',
    'a.svg',
    'a.svgz',
    'a.xml',
    'a.xsl',
    'a.mathml',
    'a.js',
    'a.mjs',
    'a.css',
    'a.json',
    'a.pdf',
    'a.swf',
    'a.mht',
    'a.eml',
    'a.ics',
    'a.wasm',
    'a.vtt',
    'a.m3u8',
    'a.webmanifest',
    'README',
  ])('makes %p an attachment', async (name) => {
    expect(isInlineSafe(await mediaType(name, null, NOTHING))).toBe(false)
  })

  test.each([
    '',
    'toString',
    'image/png; a=b',
    'text/html',
    'image/svg+xml',
    'IMAGE/PNG',
    'multipart/x-mixed-replace',
  ])('does not take %p for safe', (type) => {
    expect(isInlineSafe(type)).toBe(false)
  })
})
