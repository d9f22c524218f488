export function cookieValue(request: Request, name: string): string | null {
  for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
    const [key, ...value] = pair.trim().split('=')
    if (key === name) return value.join('=')
  }
  return null
}

/** Inaccessible to scripts. Zero seconds delete the cookie. */
export function setCookie(name: string, value: string, seconds: number, secure: boolean, path = '/'): string {
  const flags = secure ? '; Secure' : ''
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${flags}`
}
