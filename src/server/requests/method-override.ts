import { Refusal } from '../../domain/errors.ts'

const METHODS = ['HEAD', 'GET', 'PATCH', 'DELETE'] as const
export type MeantMethod = (typeof METHODS)[number]

/**
 * The effective method of an upload request. A client that cannot send a method sends POST with a header that
 * names it. With other methods the header is ignored, so that access is decided by the real method. Throws
 * Refusal METHOD_NOT_ALLOWED.
 */
export function meantMethod(request: Request): MeantMethod {
  const name = methodName(request)
  const meant = METHODS.find((known) => known === name)
  if (meant === undefined) throw new Refusal('METHOD_NOT_ALLOWED', 'Use HEAD, GET, PATCH or DELETE here')
  return meant
}

/** Whether an upload request appends to an upload. */
export function carriesBytes(request: Request): boolean {
  return methodName(request) === 'PATCH'
}

function methodName({ method, headers }: Request): string {
  const override = method === 'POST' ? headers.get('x-http-method-override')?.toUpperCase() : undefined
  return override ?? method
}
