import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dir, '../../docs/decisions')
const MOST_LINES = 40

const records = readdirSync(FOLDER)
  .filter((name) => /^\d{3}-.*\.md$/.test(name))
  .sort()
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

describe('decision records', () => {
  test('have 40 lines at most', () => {
    const lengths = records.map((name) => ({ name, lines: textOf(name).trimEnd().split('\n').length }))
    expect(lengths.filter(({ lines }) => lines > MOST_LINES)).toEqual([])
  })

  test('have numbers of their own, and titles that begin with them', () => {
    const numbers = records.map((name) => name.slice(0, 3))
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(records.filter((name) => !textOf(name).startsWith(`# ${name.slice(0, 3)} `))).toEqual([])
  })

  test('are listed in the index once, by their titles, under a subject', () => {
    const index = textOf('README.md')
    const subjects = index.slice(index.indexOf('\n## '))
    const listed = [...subjects.matchAll(/^- \[\d{3}\]\((.+?)\) (.+)$/gm)]
    const expected = records.map((name) => [name, textOf(name).split('\n')[0]?.slice('# 000 '.length)])
    expect(listed.map(([, name, title]) => [name, title]).sort()).toEqual(expected)
  })

  test('name the record that superseded or amended them', () => {
    const status = records.flatMap((name) => textOf(name).match(/^(Superseded|Amended) by .*$/m) ?? [])
    expect(status.length).toBeGreaterThan(0)
    const unnamed = records.filter((name) =>
      /^(Superseded|Amended) by (?!\[\d{3}\]\(\d{3}-)/m.test(textOf(name)),
    )
    expect(unnamed).toEqual([])
  })
})
