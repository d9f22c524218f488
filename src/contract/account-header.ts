/**
 * The account that a request is meant for, by its number. A page sends it with all that it asks for: another window may have
 * signed out meanwhile, which would make the request a guest's, or signed in as somebody else.
 */
export const ACCOUNT_HEADER = 'Holdfast-Account'
