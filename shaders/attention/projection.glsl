// Projection coefficients of projections and their gradients, and the cases in which they are defined as 0.

const float SMALLEST_NORMAL = 1.17549435e-38;

// <x,v>/<v,v>; 0 if <v,v> is 0 or subnormal.
float projection_coefficient(float x_v, float v_v) { return v_v >= SMALLEST_NORMAL ? x_v / v_v : 0.0; }

// True if v is a single normal number, to which nothing is perpendicular.
bool residual_is_zero(float v_v, uint width) { return width == 1 && v_v >= SMALLEST_NORMAL; }
