// What projections and their gradients share: when <v,v> counts as 0, and what sums make of each element.

const float SMALLEST_NORMAL = 1.17549435e-38;

// <x,v>/<v,v>; without a direction 0.
float along(float x_v, float v_v) { return v_v >= SMALLEST_NORMAL ? x_v / v_v : 0.0; }

// Of one element: nothing is perpendicular to v.
bool gone(float v_v, uint width) { return width == 1 && v_v >= SMALLEST_NORMAL; }
