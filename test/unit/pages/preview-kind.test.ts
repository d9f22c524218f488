import { describe, expect, test } from 'bun:test'
import { previewKindOf } from '../../../src/pages/preview-kind.ts'

const kindOf = (name: string, type: string, size = 1000) => previewKindOf({ name, type, size })

describe('a file is shown', () => {
  test.each([
    ['photo.jpg', 'image/jpeg', 'image'],
    ['drawing.svg', 'image/svg+xml', 'image'],
    ['film.mp4', 'video/mp4', 'video'],
    ['song.flac', 'audio/flac', 'audio'],
    ['paper.pdf', 'application/pdf', 'pdf'],
    ['notes.txt', 'text/plain', 'text'],
    ['server.log', 'application/octet-stream', 'text'],
    ['LICENSE', 'application/octet-stream', 'text'],
    ['main.rs', 'text/plain', 'code'],
    ['tool.ts', 'text/plain', 'code'],
    ['tool.mts', 'text/plain', 'code'],
    ['tool.py', 'application/octet-stream', 'code'],
    ['tool.svelte', 'text/plain', 'code'],
    ['tool.pl', 'application/x-perl', 'code'],
    ['tool.dart', 'application/vnd.dart', 'code'],
    ['tool.cjs', 'application/node', 'code'],
    ['tool.jsx', 'text/jsx', 'code'],
    ['rows.jsonl', 'application/octet-stream', 'code'],
    ['.env', 'text/plain', 'code'],
    ['key.pem', 'application/x-x509-ca-cert', 'text'],
    ['id_rsa.pub', 'text/plain', 'text'],
    ['page.html', 'text/html', 'code'],
    ['data.json', 'application/json', 'code'],
    ['Makefile', 'application/octet-stream', 'code'],
    ['README.md', 'text/markdown', 'markdown'],
    ['figures.csv', 'text/csv', 'table'],
    ['files.zip', 'application/zip', 'archive'],
    ['app.apk', 'application/vnd.android.package-archive', 'archive'],
  ])('by what %s of type %s is: as %s', (name, type, kind) => {
    expect<string | null>(kindOf(name, type)).toBe(kind)
  })

  test.each([
    ['program.exe', 'application/x-msdownload'],
    ['letter.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['disk.vhd', 'application/x-virtualbox-vhd'],
    ['slides.key', 'application/vnd.apple.keynote'],
    ['old.avi', 'video/x-msvideo'],
    ['unknown', 'application/octet-stream'],
    ['files.rar', 'application/vnd.rar'],
  ])('as an icon when no browser shows it: %s', (name, type) => {
    expect(kindOf(name, type)).toBeNull()
  })

  test('as an icon when it is empty, except for a text, which says so', () => {
    expect(kindOf('photo.jpg', 'image/jpeg', 0)).toBeNull()
    expect(kindOf('notes.txt', 'text/plain', 0)).toBe('text')
    expect(kindOf('main.rs', 'text/plain', 0)).toBe('text')
  })

  test('as text when it is a drawing of many megabytes', () => {
    expect(kindOf('drawing.svg', 'image/svg+xml', 3 * 1024 ** 2)).toBe('code')
  })
})
