// Typical monthly means, January to December: temperature in °C and rain (or melted snow) in mm. Rounded; for demonstration.
export const cities = [
  { name: 'Auckland', country: 'New Zealand', celsius: [19, 20, 18, 16, 14, 12, 11, 11, 13, 14, 16, 18], rain: [71, 65, 85, 100, 113, 125, 146, 121, 107, 93, 86, 94] },
  { name: 'Beijing', country: 'China', celsius: [-3, 1, 7, 15, 21, 25, 27, 26, 21, 14, 5, -1], rain: [2, 5, 9, 21, 34, 72, 160, 138, 49, 23, 10, 2] },
  { name: 'Berlin', country: 'Germany', celsius: [1, 2, 5, 10, 15, 18, 20, 19, 15, 10, 5, 2], rain: [45, 34, 42, 33, 55, 58, 64, 60, 45, 42, 43, 47] },
  { name: 'Cairo', country: 'Egypt', celsius: [14, 15, 18, 22, 25, 28, 28, 28, 27, 24, 19, 15], rain: [5, 4, 4, 1, 0, 0, 0, 0, 0, 1, 4, 6] },
  { name: 'Dubai', country: 'United Arab Emirates', celsius: [19, 21, 24, 28, 32, 34, 36, 36, 34, 30, 26, 21], rain: [19, 25, 22, 7, 0, 0, 1, 0, 0, 1, 3, 16] },
  { name: 'Istanbul', country: 'Türkiye', celsius: [6, 6, 8, 13, 17, 22, 25, 25, 21, 17, 12, 8], rain: [99, 82, 70, 54, 36, 38, 34, 44, 61, 100, 101, 122] },
  { name: 'Johannesburg', country: 'South Africa', celsius: [20, 20, 18, 16, 13, 10, 10, 13, 17, 18, 19, 20], rain: [125, 90, 91, 54, 13, 9, 4, 6, 27, 72, 117, 105] },
  { name: 'Lagos', country: 'Nigeria', celsius: [27, 29, 29, 28, 28, 26, 25, 25, 26, 27, 28, 28], rain: [13, 40, 84, 146, 202, 316, 243, 122, 160, 125, 40, 15] },
  { name: 'London', country: 'United Kingdom', celsius: [5, 6, 8, 10, 13, 17, 19, 19, 16, 12, 8, 6], rain: [59, 45, 41, 43, 46, 47, 46, 53, 50, 66, 67, 58] },
  { name: 'Madrid', country: 'Spain', celsius: [6, 8, 11, 13, 18, 23, 26, 26, 21, 15, 10, 7], rain: [33, 35, 25, 45, 51, 21, 12, 10, 22, 60, 58, 51] },
  { name: 'Mexico City', country: 'Mexico', celsius: [15, 16, 19, 20, 20, 19, 18, 18, 18, 17, 16, 15], rain: [11, 4, 10, 26, 56, 135, 175, 170, 145, 67, 12, 6] },
  { name: 'Moscow', country: 'Russia', celsius: [-6, -6, 0, 7, 14, 17, 19, 17, 12, 6, -1, -5], rain: [53, 44, 39, 37, 61, 77, 84, 78, 66, 70, 52, 51] },
  { name: 'Mumbai', country: 'India', celsius: [24, 25, 27, 29, 30, 29, 28, 27, 28, 28, 28, 26], rain: [0, 0, 0, 0, 11, 538, 841, 551, 342, 90, 5, 1] },
  { name: 'Nairobi', country: 'Kenya', celsius: [19, 20, 20, 20, 19, 18, 17, 18, 19, 20, 19, 19], rain: [58, 50, 92, 242, 190, 39, 18, 24, 31, 61, 150, 108] },
  { name: 'New York', country: 'United States', celsius: [1, 2, 6, 12, 17, 22, 25, 24, 20, 14, 9, 4], rain: [92, 81, 109, 104, 101, 115, 117, 116, 109, 111, 91, 111] },
  { name: 'Paris', country: 'France', celsius: [5, 6, 9, 12, 15, 19, 21, 21, 17, 13, 9, 6], rain: [48, 42, 45, 44, 63, 57, 56, 58, 50, 57, 53, 59] },
  { name: 'Reykjavík', country: 'Iceland', celsius: [1, 1, 1, 4, 7, 10, 12, 11, 8, 5, 2, 1], rain: [88, 94, 90, 58, 50, 42, 52, 66, 88, 77, 78, 95] },
  { name: 'São Paulo', country: 'Brazil', celsius: [23, 24, 23, 21, 18, 17, 17, 18, 19, 21, 21, 23], rain: [292, 258, 229, 88, 71, 59, 49, 38, 85, 127, 146, 225] },
  { name: 'Singapore', country: 'Singapore', celsius: [27, 27, 28, 28, 29, 28, 28, 28, 28, 28, 27, 27], rain: [222, 105, 151, 164, 164, 136, 144, 148, 133, 166, 254, 333] },
  { name: 'Sydney', country: 'Australia', celsius: [24, 23, 22, 19, 16, 14, 13, 14, 17, 19, 21, 22], rain: [91, 132, 118, 114, 100, 142, 80, 75, 63, 68, 90, 73] },
  { name: 'Tokyo', country: 'Japan', celsius: [5, 6, 9, 14, 19, 22, 26, 27, 23, 18, 13, 8], rain: [60, 57, 116, 134, 140, 168, 156, 155, 225, 235, 96, 58] }
]
