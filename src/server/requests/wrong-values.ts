import type { z } from '@hono/zod-openapi'

type Issue = z.core.$ZodRawIssue

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** For schemas without their own message; continues after the field's name. */
export function wrongValue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${listed(issue.values)}`
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum))
    case 'too_big':
      return tooBig(issue.origin, Number(issue.maximum))
    default:
      return 'is not valid'
  }
}

function tooSmall(of: string, least: number): string {
  if (of === 'string') return least === 1 ? 'must not be empty' : `must have ${least} characters at least`
  return of === 'array' ? `must hold ${least} at least` : `must be ${least} or more`
}

function tooBig(of: string, most: number): string {
  if (of === 'string') return `may have ${most} characters at most`
  return of === 'array' ? `may hold ${most} at most` : `must be ${most} or less`
}

function listed(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value))
  const last = words.pop() ?? ''
  return words.length === 0 ? last : `${words.join(', ')} or ${last}`
}
