/** What the page tells the test. */
export type Told =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sent'; readonly bytes: number }
  | { readonly kind: 'done'; readonly url: string }
  | { readonly kind: 'failed'; readonly message: string }
