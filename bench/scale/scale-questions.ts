/** Requests to a host with many files, and the goals for their latency. */

import { COUNTED_EXACTLY } from '../../src/files/files.ts'
import { type Question, smallUpload, type TimedAnswer } from './scale-client.ts'
import type { ScaleFacts } from './scale-data.ts'
import { NEEDLES, ONLY_OLD, RARE } from './scale-needles.ts'

export interface AskedQuestion {
  readonly title: string
  /** `twice`: at most twice the latency of the small account; `absolute`: at most `MOST` milliseconds. */
  readonly goal: 'twice' | 'absolute' | 'none'
  /** Requests in order, repeated from the beginning when they are exhausted. */
  questions(facts: ScaleFacts): readonly Question[]
  /** Throws when the answer is wrong. */
  check?(answer: TimedAnswer, facts: ScaleFacts): void
  /** Request that reverts the change, unmeasured, so that every run starts from the same state. */
  undo?(answer: TimedAnswer): Question
}

/** Limit in milliseconds for a search that matches very many names, or has no trigram. */
export const MOST = 250

const get = (path: string): Question => ({ method: 'GET', path })
const post = (path: string, body: object): Question => ({ method: 'POST', path, body })
const files = (query: Record<string, string>) => get(`/api/v1/files?${new URLSearchParams(query)}`)

const SORTS = ['created_at', 'name', 'size', 'downloads'] as const
const ORDERS = ['desc', 'asc'] as const

export function scaleQuestions(): AskedQuestion[] {
  return [...pages(), ...reads(), ...rareSearches(), ...changes(), ...hardSearches()]
}

function pages(): AskedQuestion[] {
  return SORTS.flatMap((sort) =>
    ORDERS.flatMap((order) =>
      ['1', '100'].map(
        (page): AskedQuestion => ({
          title: `list, page ${page}, by ${sort} ${order}`,
          goal: 'twice',
          questions: () => [files({ per_page: '100', page, sort, order })],
          check: holds(100),
        }),
      ),
    ),
  )
}

function reads(): AskedQuestion[] {
  const folder = (identifier: string, query = '') => get(`/api/v1/folder/${identifier}/files${query}`)
  return [
    {
      title: 'file detail, by slug, id and UUID',
      goal: 'twice',
      questions: (facts) =>
        facts.files.map(({ slug, id, uuid }, at) =>
          get(`/api/v1/file/${[slug, String(id), uuid][at % 3] ?? slug}`),
        ),
    },
    { title: 'account', goal: 'twice', questions: () => [get('/api/v1/account')] },
    {
      title: 'files of an ordinary folder, all',
      goal: 'twice',
      questions: (facts) => facts.ordinary.map((identifier) => folder(identifier)),
    },
    {
      title: 'files of an ordinary folder, first page',
      goal: 'twice',
      questions: (facts) => facts.ordinary.map((identifier) => folder(identifier, '?page=1')),
    },
    {
      title: 'files of a folder of 2,500, page 100',
      goal: 'twice',
      questions: (facts) => [folder(facts.heap, '?page=100')],
      check: holds(20),
    },
    {
      title: 'files of a folder of 2,500, page 20 by size',
      goal: 'twice',
      questions: (facts) => [files({ folder: facts.heap, per_page: '100', page: '20', sort: 'size' })],
      check: holds(100),
    },
    {
      title: 'folders in a folder',
      goal: 'twice',
      questions: (facts) => facts.leaves.map(({ parent }) => get(`/api/v1/folder/${parent}/folders`)),
    },
  ]
}

function rareSearches(): AskedQuestion[] {
  const rare = (title: string, needle: string, more: Record<string, string> = {}): AskedQuestion => ({
    title: `search ${title}`,
    goal: 'twice',
    questions: () => [files({ search: needle, per_page: '100', ...more })],
    check: finds(() => 3),
  })
  return [
    rare(`"${RARE.word}", in 3 names`, RARE.word),
    rare(`"${RARE.word}", by size`, RARE.word, { sort: 'size' }),
    rare(`"${RARE.three}", in 3 names`, RARE.three),
    rare(`"${RARE.script}", in 3 names`, RARE.script),
    {
      title: 'search "quarzwerk", in no name',
      goal: 'twice',
      questions: () => [files({ search: 'quarzwerk' })],
      check: finds(() => 0),
    },
    {
      title: 'search ".jpg" in a folder of 2,500',
      goal: 'twice',
      questions: (facts) => [files({ search: '.jpg', folder: facts.heap })],
    },
  ]
}

function changes(): AskedQuestion[] {
  return [
    {
      title: 'move a file',
      goal: 'twice',
      // Moves back and forth, so that every run starts from the same tree.
      questions: ({ files: samples, outside, heap }) =>
        samples
          .slice(0, 40)
          .flatMap(({ slug }) => [
            post('/api/v1/file/move', { file: slug, folder: outside[0] }),
            post('/api/v1/file/move', { file: slug, folder: heap }),
          ]),
    },
    {
      title: 'move a folder without folders in it',
      goal: 'twice',
      questions: ({ leaves, outside }) =>
        leaves
          .slice(0, 40)
          .flatMap(({ folder, parent }) => [
            post('/api/v1/folder/move', { folder, parent: outside[0] }),
            post('/api/v1/folder/move', { folder, parent }),
          ]),
    },
    {
      title: 'move the largest branch of the tree',
      goal: 'twice',
      questions: ({ branch: { folder, parent }, outside }) => [
        post('/api/v1/folder/move', { folder, parent: outside[0] }),
        post('/api/v1/folder/move', { folder, parent }),
      ],
    },
    {
      title: 'upload of a small file',
      goal: 'none',
      questions: () => [smallUpload()],
      undo: ({ slug }) => post('/api/v1/file/delete', { identifiers: [slug] }),
    },
  ]
}

function hardSearches(): AskedQuestion[] {
  const hard = (needle: string, more: Record<string, string> = {}): AskedQuestion => ({
    title: `search "${needle}"${Object.keys(more).length === 0 ? '' : `, ${Object.values(more).join(' ')}`}`,
    goal: 'absolute',
    // As the file manager asks.
    questions: () => [files({ search: needle, per_page: '100', totals: 'bounded', ...more })],
    check: finds((facts) => {
      const counted = Math.max(COUNTED_EXACTLY, (Number(more.page ?? 1) + 1) * 100)
      return Math.min(facts.hits[needle] ?? 0, counted)
    }),
  })
  const names = NEEDLES.filter(
    (needle) => ![RARE.word, RARE.three, RARE.script].some((rare) => rare === needle),
  )
  return [
    ...names.map((needle) => hard(needle)),
    hard(ONLY_OLD, { sort: 'size', order: 'asc' }),
    hard('mp4', { sort: 'size', order: 'asc' }),
    hard('img_', { sort: 'name', order: 'desc' }),
    hard('jp', { sort: 'downloads', page: '100' }),
    hard(RARE.two, { sort: 'size' }),
    {
      title: 'search a whole name of a photo',
      goal: 'absolute',
      questions: (facts) => [files({ search: facts.fullName })],
    },
  ]
}

function holds(count: number): (answer: TimedAnswer) => void {
  return ({ data }) => {
    const found = Array.isArray(data) ? data.length : 0
    if (found !== count) throw new Error(`a page has ${found} files instead of ${count}`)
  }
}

function finds(count: (facts: ScaleFacts) => number): NonNullable<AskedQuestion['check']> {
  return ({ pagination }, facts) => {
    if (pagination?.total === count(facts)) return
    throw new Error(`a search finds ${pagination?.total} files instead of ${count(facts)}`)
  }
}
