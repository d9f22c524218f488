import { Refusal } from '../../domain/errors.ts'

const METHODS = ['HEAD', 'GET', 'PATCH', 'DELETE'] as const
export type MeantMethod = (typeof METHODS)[number]

/**
 * Effective method of an upload request: clients may send POST with a header that names it. Ignored with other methods,
 * so that the real one decides access. Throws Refusal METHOD_NOT_ALLOWED.
 */
export function meantMethod(request: Request): MeantMethod {
  const name = methodName(request)
  const meant = METHODS.find((known) => known === name)
  if (meant === undefined) throw new Refusal('METHOD_NOT_ALLOWED', 'Use HEAD, GET, PATCH or DELETE here')
  return meant
}

export function carriesBytes(request: Request): boolean {
  return methodName(request) === 'PATCH'
}

function methodName({ method, headers }: Request): string {
  const override = method === 'POST' ? headers.get('x-http-method-override')?.toUpperCase() : undefined
  return override ?? method
}
