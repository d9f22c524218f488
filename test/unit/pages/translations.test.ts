/** German says all that English does, and what the server says in English besides, and nothing that is no longer said. */
import { expect, test } from 'bun:test'
import { JOB_NAMES } from '../../../src/app.ts'
import { de } from '../../../src/pages/texts/de.ts'
import { en } from '../../../src/pages/texts/en.ts'
import { settings } from '../../../src/settings.ts'

const { jobs, settings: inForce, doctor } = de.admin.app
const DOCTOR = new Bun.Glob('src/operations/doctor/*.ts')

/** Of all findings, as `say` makes them. */
async function templates(): Promise<Set<string>> {
  const found = new Set<string>()
  for await (const path of DOCTOR.scan()) {
    for (const [, said = ''] of (await Bun.file(path).text()).matchAll(/\bsay`([^`]*)`/g)) {
      let at = 0
      found.add(said.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, () => `{${at++}}`))
    }
  }
  return found
}

/** In which words are. */
const isTranslatable = (template: string) => /[a-z]/i.test(template)
const holesOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort()

/** Places of texts whose holes differ. A plural for one may do without the number. */
function otherHoles(english: unknown, german: unknown, path: string): string[] {
  if (typeof english === 'string' && typeof german === 'string') {
    const [here, there] = [english, german].map((text) => holesOf(text).filter((hole) => hole !== '{count}'))
    return Bun.deepEquals(here, there) ? [] : [path]
  }
  if (typeof english !== 'object' || english === null) return []
  const known = new Map(Object.entries(Object(german)))
  return Object.entries(english).flatMap(([key, text]) => otherHoles(text, known.get(key), `${path}.${key}`))
}

test('texts have places for the same values in both languages', () => {
  expect(otherHoles(en, de, 'texts')).toEqual([])
})

test('of jobs, settings and findings all are in German', async () => {
  const sentences = [...(await templates())].filter(isTranslatable)
  expect(sentences.length).toBeGreaterThan(100)
  expect(Object.keys(jobs.names).sort()).toEqual([...JOB_NAMES].sort())
  expect(Object.keys(inForce.descriptions)).toEqual(Object.values(settings).map((each) => each.variable))
  expect(Object.keys(doctor.sentences).sort()).toEqual(sentences.sort())
  for (const [template, translation] of Object.entries(doctor.sentences)) {
    expect(holesOf(translation)).toEqual(holesOf(template))
  }
})
