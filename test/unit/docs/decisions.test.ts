import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dir, '../../../docs/decisions')

const chapters = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .sort()
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

test('chapters of decisions are listed in the index once, by their titles', () => {
  const index = textOf('README.md')
  const listed = [...index.matchAll(/^- \[(.+?)\]\((.+?)\): .+$/gm)].map(([, title, name]) => [name, title])
  const expected = chapters.map((name) => [name, textOf(name).split('\n')[0]?.slice('# '.length)])
  expect(listed.sort()).toEqual(expected)
})

test('a chapter of decisions begins with a paragraph, and its choices have different titles', () => {
  const wrong = chapters.filter((name) => {
    const [title = '', empty, beginning = ''] = textOf(name).split('\n')
    const choices = [...textOf(name).matchAll(/^## .+$/gm)].map(([choice]) => choice)
    return (
      !title.startsWith('# ') ||
      empty !== '' ||
      !/^\w|^`/.test(beginning) ||
      new Set(choices).size < choices.length
    )
  })
  expect(wrong).toEqual([])
})
