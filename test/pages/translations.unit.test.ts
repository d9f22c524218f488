/** What the server says in English has a translation, and none is for what it no longer says. */
import { expect, test } from 'bun:test'
import { JOB_NAMES } from '../../src/job-order.ts'
import { de } from '../../src/pages/texts/de.ts'
import { settings } from '../../src/settings.ts'

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
const holesOf = (text: string) => [...new Set(text.match(/\{\d\}/g))].sort()

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
