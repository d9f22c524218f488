/** The account that a page acts for: another window may have signed out or changed it meanwhile. */
export const ACCOUNT_HEADER = 'Holdfast-Account'
