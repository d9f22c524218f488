import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  checkConditions,
  parseHttpDate,
  rangeApplies,
  type Validators,
} from '../../../../src/server/answers/part-to-send.ts'

const NOW = 'Sun, 06 Nov 1994 08:49:37 GMT'
const BEFORE = 'Sun, 06 Nov 1994 08:49:36 GMT'
const AFTER = 'Sun, 06 Nov 1994 08:49:38 GMT'

/** Changed within the second that NOW names, not at its start. */
const file: Validators = { etag: '"abc"', lastModified: Date.UTC(1994, 10, 6, 8, 49, 37, 789) }

const outcome = (headers: Record<string, string>) => checkConditions(new Headers(headers), file)
const applies = (ifRange: string) => rangeApplies(new Headers({ 'If-Range': ifRange }), file)

describe('checkConditions', () => {
  test('sends what nothing is asked about', () => {
    expect(outcome({})).toBe('send')
  })

  test.each(['"abc"', '*', '"x", "abc"', '"x","abc" , "y"', '"a,b", "abc"'])(
    'goes on when If-Match is %p',
    (value) => {
      expect(outcome({ 'If-Match': value })).toBe('send')
    },
  )

  test.each(['"x"', 'W/"abc"', '"x", W/"abc"', 'abc', '', '"abc'])('fails when If-Match is %p', (value) => {
    expect(outcome({ 'If-Match': value })).toBe('precondition-failed')
  })

  test.each(['"abc"', 'W/"abc"', '*', '"x", W/"abc"'])(
    'is not modified when If-None-Match is %p',
    (value) => {
      expect(outcome({ 'If-None-Match': value })).toBe('not-modified')
    },
  )

  test.each(['"x"', 'W/"x"', 'abc', '', '"x,abc"', '"ABC"'])('sends when If-None-Match is %p', (value) => {
    expect(outcome({ 'If-None-Match': value })).toBe('send')
  })

  test('compares dates in whole seconds', () => {
    expect(outcome({ 'If-Modified-Since': BEFORE })).toBe('send')
    expect(outcome({ 'If-Modified-Since': NOW })).toBe('not-modified')
    expect(outcome({ 'If-Modified-Since': AFTER })).toBe('not-modified')
    expect(outcome({ 'If-Unmodified-Since': BEFORE })).toBe('precondition-failed')
    expect(outcome({ 'If-Unmodified-Since': NOW })).toBe('send')
    expect(outcome({ 'If-Unmodified-Since': AFTER })).toBe('send')
  })

  test.each(['', 'yesterday', '1994', '1994-11-06T08:49:37Z', 'Sun, 06 Nov 1994 08:49:37', `${NOW}, ${NOW}`])(
    'ignores the date %p',
    (value) => {
      expect(outcome({ 'If-Modified-Since': value })).toBe('send')
      expect(outcome({ 'If-Unmodified-Since': value })).toBe('send')
    },
  )

  test('does not look at a date where there is an entity tag for the same question', () => {
    expect(outcome({ 'If-Match': '"abc"', 'If-Unmodified-Since': BEFORE })).toBe('send')
    expect(outcome({ 'If-Match': '"x"', 'If-Unmodified-Since': AFTER })).toBe('precondition-failed')
    expect(outcome({ 'If-None-Match': '"x"', 'If-Modified-Since': AFTER })).toBe('send')
    expect(outcome({ 'If-None-Match': '"abc"', 'If-Modified-Since': BEFORE })).toBe('not-modified')
  })

  test('asks the preconditions before it says that nothing is modified', () => {
    expect(outcome({ 'If-Match': '"x"', 'If-None-Match': '"abc"' })).toBe('precondition-failed')
    expect(outcome({ 'If-Unmodified-Since': BEFORE, 'If-Modified-Since': NOW })).toBe('precondition-failed')
    expect(outcome({ 'If-Match': '"abc"', 'If-None-Match': '"abc"' })).toBe('not-modified')
    expect(outcome({ 'If-Unmodified-Since': AFTER, 'If-None-Match': 'W/"abc"' })).toBe('not-modified')
  })

  test('compares a weak tag of its own only where weak is enough', () => {
    const weak: Validators = { ...file, etag: 'W/"abc"' }
    expect(checkConditions(new Headers({ 'If-Match': 'W/"abc"' }), weak)).toBe('precondition-failed')
    expect(checkConditions(new Headers({ 'If-None-Match': '"abc"' }), weak)).toBe('not-modified')
  })

  test('knows any tag again in any list', () => {
    const opaque = fc.stringMatching(/^[!#-~]{0,12}$/)
    fc.assert(
      fc.property(fc.array(opaque, { minLength: 1, maxLength: 5 }), opaque, (listed, own) => {
        const validators = { ...file, etag: `"${own}"` }
        const headers = new Headers({ 'If-None-Match': listed.map((tag) => `W/"${tag}"`).join(', ') })
        expect(checkConditions(headers, validators)).toBe(listed.includes(own) ? 'not-modified' : 'send')
      }),
    )
  })
})

describe('rangeApplies', () => {
  test('without If-Range', () => {
    expect(rangeApplies(new Headers(), file)).toBe(true)
  })

  test.each(['"abc"', NOW])('when If-Range is %p', (value) => {
    expect(applies(value)).toBe(true)
  })

  test.each(['W/"abc"', '"x"', 'abc', '*', '"abc", "x"', BEFORE, AFTER, 'yesterday', ''])(
    'not when If-Range is %p',
    (value) => {
      expect(applies(value)).toBe(false)
    },
  )

  test('not to a weak tag, even the same', () => {
    expect(rangeApplies(new Headers({ 'If-Range': 'W/"abc"' }), { ...file, etag: 'W/"abc"' })).toBe(false)
  })
})

describe('parseHttpDate', () => {
  test.each([NOW, 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994', NOW.toLowerCase()])(
    'reads %p',
    (text) => {
      expect(parseHttpDate(text)).toBe(784111777)
    },
  )

  test.each([
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 6 Nov 1994 08:49:37 GMT',
  ])('knows no moment %p', (text) => {
    expect(parseHttpDate(text)).toBeNull()
  })

  test('reads back every date that it is sent', () => {
    const date = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (moment) => {
        expect(parseHttpDate(moment.toUTCString())).toBe(Math.floor(moment.getTime() / 1000))
      }),
    )
  })
})
