/** The fewest characters of the password of a new key file. */
export const PASSWORD_LENGTH_MIN = 8

/** True for a password with which no new key file should be made: whoever has the file could soon guess it. */
export const isTooShort = (password: string): boolean => [...password.normalize()].length < PASSWORD_LENGTH_MIN
